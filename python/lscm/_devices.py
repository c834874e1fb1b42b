"""What there is to compute on."""

from __future__ import annotations

from typing import NamedTuple

from . import _core
from ._words import spoken


class Device(NamedTuple):
    """The CPU, with its cores; or a CUDA device, with its compute capability and memory in bytes."""

    device: str  # "cpu", "cuda:0": as LatentSCM(device=...) takes it
    name: str
    cores: int
    compute_capability: tuple[int, int]
    memory: int
    memory_free: int


class Devices(NamedTuple):
    """All devices, the CPU first, and why there is no CUDA device ("" where there is one)."""

    rows: tuple[Device, ...]
    without: str


def devices() -> Devices:
    """What this machine has to compute on, as `lscm info --device` says it.

    >>> import lscm
    >>> [device.device for device in lscm.devices().rows][0]
    'cpu'
    """
    rows, without = _core.devices()
    return Devices(tuple(Device(**row) for row in rows), spoken(without))
