"""The main job from end to end on data that it draws itself: `python -m pathcast.demo`, or `make demo`."""
