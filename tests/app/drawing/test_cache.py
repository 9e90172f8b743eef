"""What the cache of pictures keeps, and for how long."""

from app.drawing.cache import MAX_AGE_SECONDS, PictureCache, make_key
from app.drawing.tasks import DrawPicture, NotDrawn

TASK = DrawPicture(source="x", id_prefix="g")


def test_the_key_is_of_the_trace_and_of_everything_asked() -> None:
    key = make_key(TASK, b"trace")

    assert make_key(DrawPicture(source="x", id_prefix="g"), b"trace") == key
    others = {
        make_key(TASK, b"trace2"),
        make_key(TASK.model_copy(update={"step": 1}), b"trace"),
        make_key(TASK.model_copy(update={"opened": ("a",)}), b"trace"),
        make_key(TASK.model_copy(update={"source": "y"}), b"trace"),
    }
    assert len(others - {key}) == 4


def test_the_oldest_pictures_make_room_for_the_newest() -> None:
    cache = PictureCache(most_bytes=100)
    for number in range(10):
        cache.keep(bytes([number]), b"." * 20, now=0.0)

    assert [number for number in range(10) if cache.find(bytes([number]), 0.0)] == [5, 6, 7, 8, 9]
    assert cache.size_bytes == 100


def test_one_picture_cannot_displace_most_of_the_others() -> None:
    cache = PictureCache(most_bytes=100)
    cache.keep(b"small", b"." * 25, now=0.0)
    cache.keep(b"large", b"." * 26, now=0.0)

    assert cache.find(b"large", 0.0) is None
    assert cache.find(b"small", 0.0) is not None


def test_a_picture_is_forgotten_after_some_minutes() -> None:
    cache = PictureCache()
    cache.keep(b"key", b"picture", now=0.0)

    assert cache.find(b"key", MAX_AGE_SECONDS) == b"picture"
    assert cache.find(b"key", MAX_AGE_SECONDS + 1) is None
    assert cache.size_bytes == 0


def test_a_refusal_is_kept_as_a_picture_is() -> None:
    cache = PictureCache()
    refusal = NotDrawn("This graph is too large to draw.")
    cache.keep(b"key", refusal, now=0.0)

    assert cache.find(b"key", 1.0) is refusal
