"""The main job from end to end on data that it draws itself: `python -m demo`, or `make demo`."""
