"""What every test folder may use."""

pytest_plugins = ["tests.kafka.fixtures"]
