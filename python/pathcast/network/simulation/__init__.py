"""A network of brokers in one process, under one seed, with faults, and what must hold at every step."""

from pathcast.network.simulation.channel import Wire
from pathcast.network.simulation.checks import Checks, ViolationError
from pathcast.network.simulation.world import Node, World

__all__ = ["Checks", "Node", "ViolationError", "Wire", "World"]
