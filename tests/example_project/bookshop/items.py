from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Book:
    url: str
    title: str
    price: str
    category: str
    reviews: int | None = None
