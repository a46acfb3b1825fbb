#include "profiler/formats/format.h"
#include "profiler/formats/pytorch/memory_snapshot.h"
#include "profiler/formats/pytorch/pickle.h"

#include <string_view>

namespace profiler::formats {

namespace {

/// A pickle with the keys of a snapshot. Another pickle is recognised by its name, so that the error says what it
/// lacks.
bool recognises(std::span<const std::byte> head, const std::filesystem::path& path)
{
    const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
    const auto extension = path.extension();
    return pickle::isPickle(head) &&
           (text.find("segments") != std::string_view::npos || text.find("device_traces") != std::string_view::npos ||
            extension == ".pickle" || extension == ".pkl");
}

} // namespace

Format pytorch_memory()
{
    return {.title = "PyTorch memory snapshot",
            .doc = "What torch.cuda.memory._dump_snapshot() writes: the history of the allocator and its segments",
            .extensions = {".pickle", ".pkl"},
            .recognises = recognises,
            .read = memory::readSnapshot};
}

} // namespace profiler::formats
