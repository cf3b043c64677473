"""What holds for the whole suite: no example fails for being slow on a busy machine; speed has
benchmarks of its own."""

from hypothesis import HealthCheck, settings

settings.register_profile("ijfw", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("ijfw")
