from functools import cache


def reverse(machine):
    """Decides state by state, on the way: does this one stay, or go? A plan of two choices and no splits."""
    units, costs, end_of_chain = machine.units, machine.costs, machine.layers

    @cache
    def finish(end, here, kept):
        """Steps until the gradient is at 0, as `here` is the newest state, `kept` the snapshots before it."""
        first = kept[-1]
        held = sum(units[number] for number in kept)
        top = end == end_of_chain
        gradient = 0 if top else units[end]
        if here == end - 1:
            own = 0 if here == first else units[here]
            most = held + own + units[end] + (max(units[end], units[here]) if top else units[here])
            if most > machine.most_held:
                return 10**9
            steps = costs[here] if top else 0
            if here == 0:
                return steps
            rest = kept if here != first else kept[:-1]
            return steps + finish(here, rest[-1], rest)
        own = 0 if here == first else units[here]
        if held + gradient + own + units[here + 1] > machine.most_held:
            return 10**9
        go = costs[here] + finish(end, here + 1, kept)
        if here == first:
            return go
        return min(go, costs[here] + finish(end, here + 1, (*kept, here)))

    snapshots, states = (0,), {0: machine.start}
    gradient = None
    for end in range(end_of_chain, 0, -1):
        here = snapshots[-1]
        while here < end - 1:
            states[here + 1] = machine.forward(here, states[here])
            if here != snapshots[-1]:
                stays = finish(end, here + 1, (*snapshots, here))
                if stays < finish(end, here + 1, snapshots):
                    snapshots = (*snapshots, here)
                else:
                    machine.free(states.pop(here))
            here += 1
        if gradient is None:
            last = machine.forward(here, states[here])
            gradient = machine.loss(last)
            machine.free(last)
        before = machine.vjp(here, states[here], gradient)
        machine.free(gradient)
        gradient = before
        if here:
            machine.free(states.pop(here))
        snapshots = tuple(number for number in snapshots if number < here) or (0,)
    return gradient
