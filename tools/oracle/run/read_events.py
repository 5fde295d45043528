"""Prints what TensorBoard itself reads in the event files of a folder.

    pip install tensorboard
    python tools/oracle/run/read_events.py runs/a/events

Scalars are printed as `tag step value`, texts as `tag step rows`. Steps that a resumed run invalidates
do not appear.
"""

import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.util import tensor_util


def main(folder: str) -> None:
    events = EventAccumulator(folder, size_guidance={"scalars": 0, "tensors": 0})
    events.Reload()
    tags = events.Tags()
    for tag in sorted(tags["scalars"]):
        for event in events.Scalars(tag):
            print(tag, event.step, event.value)
    for tag in sorted(tags["tensors"]):
        plugin = events.SummaryMetadata(tag).plugin_data.plugin_name
        for event in events.Tensors(tag):
            rows = [row.decode() for row in tensor_util.make_ndarray(event.tensor_proto)]
            print(tag, event.step, plugin, rows)


main(sys.argv[1])
