#include "profiler/formats/format.h"
#include "profiler/formats/perfetto/perfetto_writer.h"

namespace profiler::formats {

Format perfetto()
{
    return {.title = "Perfetto trace",
            .doc = "Protobuf packets for ui.perfetto.dev and trace_processor (export only)",
            .extensions = {".perfetto-trace", ".pftrace"},
            .write = writers::writePerfetto};
}

} // namespace profiler::formats
