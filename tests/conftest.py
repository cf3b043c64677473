"""What holds for the whole suite: no example fails for being slow on a busy machine; speed has
benchmarks of its own."""

from hypothesis import settings

settings.register_profile("ijfw", deadline=None)
settings.load_profile("ijfw")
