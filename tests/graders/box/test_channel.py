"""A channel notices at once that the process at its other end has given it up."""

from graders.box.channel import Channel


def test_a_channel_is_open_until_the_other_end_is_closed_whatever_still_waits_to_be_read() -> None:
    channel = Channel("zygote")
    channel.theirs.send(b'{"ended": 1}')
    assert channel.is_open

    channel.theirs.close()

    assert not channel.is_open
    channel.close()
