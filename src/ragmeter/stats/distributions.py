"""The distribution functions that the statistics need; scipy would add 100 MB for them."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist


def z_quantile(p: float) -> float:
    """The p-quantile of the normal distribution."""
    return NormalDist().inv_cdf(p)


def z_cdf(z: float) -> float:
    """P(Z <= z) for a normal Z."""
    return 0.5 * math.erfc(-z / math.sqrt(2))


def z_two_sided(z: float) -> float:
    """P(|Z| >= |z|) for a normal Z, accurate in the far tail."""
    return math.erfc(abs(z) / math.sqrt(2))


def t_two_sided(t: float, df: float) -> float:
    """P(|T| >= |t|) for Student's t, accurate in the far tail."""
    return 0.0 if math.isinf(t) else incomplete_beta(df / 2, 0.5, df / (df + t * t))


def coin_two_sided(heads: int, tosses: int) -> float:
    """The two-sided p-value of a fair coin: the probability of a result at least this uneven."""
    fewer = min(heads, tosses - heads)
    return 1.0 if 2 * fewer == tosses else min(1.0, 2 * binomial_cdf(fewer, tosses, 0.5))


def binomial_cdf(k: int, n: int, p: float) -> float:
    """P(X <= k) for n trials with probability p."""
    if k < 0:
        return 0.0
    return 1.0 if k >= n else incomplete_beta(n - k, k + 1, 1 - p)


@lru_cache(maxsize=256)
def t_quantile(p: float, df: float) -> float:
    """The p-quantile of Student's t, by Newton's method on its distribution function, or its series for large df."""
    if p == 0.5:
        return 0.0
    if p < 0.5:
        return -t_quantile(1 - p, df)
    if df > 1000:
        z = z_quantile(p)
        first = (z**3 + z) / 4
        second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
        third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
        return z + first / df + second / df**2 + third / df**3
    low, high = 0.0, 1.0
    while t_cdf(high, df) < p:
        low, high = high, high * 2
    t = (low + high) / 2
    for _ in range(100):
        error = t_cdf(t, df) - p
        low, high = (t, high) if error < 0 else (low, t)
        step = t - error / _t_density(t, df)
        following = step if low < step < high else (low + high) / 2
        if abs(following - t) <= 1e-14 * max(1.0, abs(t)):
            return following
        t = following
    return t


def t_cdf(t: float, df: float) -> float:
    """P(T <= t) for Student's t."""
    tail = 0.5 * incomplete_beta(df / 2, 0.5, df / (df + t * t))
    return 1 - tail if t > 0 else tail


def _t_density(t: float, df: float) -> float:
    log = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - 0.5 * math.log(df * math.pi)
    return math.exp(log - (df + 1) / 2 * math.log1p(t * t / df))


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (Lentz's method)."""
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    if x > (a + 1) / (a + b + 2):  # the fraction converges quickly on this side only
        return 1 - incomplete_beta(b, a, 1 - x)
    log = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    tiny = 1e-300
    c, d = 1.0, 1 / _off_zero(1 - (a + b) * x / (a + 1), tiny)
    fraction = d
    for m in range(1, 10_000):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _off_zero(1 + numerator * d, tiny)
            c = _off_zero(1 + numerator / c, tiny)
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return math.exp(log) * fraction / a


def _off_zero(value: float, tiny: float) -> float:
    return value if abs(value) > tiny else tiny
