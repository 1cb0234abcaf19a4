"""What runs in Spark's Python workers: Arrow in, Arrow out. Nothing here plans or needs a session."""
