"""Operators that end on another thread than the one on which they began: collective calls, and waits for futures."""
import sys
import tempfile
import threading

import torch
import torch.distributed as dist

torch.set_num_threads(1)
values = torch.ones(4)
with tempfile.TemporaryDirectory() as folder:
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=0, world_size=1)
    for _ in range(300):  # more than the maximum nesting of ranges
        dist.all_reduce(values, async_op=True).wait()
    dist.destroy_process_group()

future = torch.futures.Future()
with torch.profiler.record_function("waits for a future") as waits:
    waits._call_end_callbacks_on_future(future)
teller = threading.Thread(target=future.set_result, args=(1,))
teller.start()
teller.join()
torch.cuda.nvtx.range_push("after")
(values + values).relu()
torch.cuda.nvtx.range_pop()
