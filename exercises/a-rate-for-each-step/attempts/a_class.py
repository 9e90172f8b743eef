import cmath
from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    total: int
    warmup: int
    peak: float
    floor: float

    def rise(self, step):
        return self.peak * (step + 1) / self.warmup

    def fall(self, step):
        turn = cmath.exp(1j * cmath.pi * (step - self.warmup) / (self.total - self.warmup)).real
        return self.peak - (self.peak - self.floor) * (1 - turn) / 2

    def __call__(self, step):
        ranges = [(self.total, lambda step: self.floor), (self.warmup, self.fall), (0, self.rise)]
        return next(rate(step) for start, rate in ranges if step >= start)


def lr_at(step, **plan):
    return Schedule(**plan)(step)
