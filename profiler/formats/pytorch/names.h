#pragma once

#include "profiler/formats/pytorch/category.h"
#include "profiler/formats/pytorch/shared_build.h"

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace profiler::formats::json {

/// What the name of an event says about the event.
enum class NameUse : std::uint8_t {
    Plain,
    Step,       ///< "ProfilerStep#5"
    Memory,     ///< "[memory]": an allocation or a deallocation
    StreamWait, ///< "Stream Wait Event": a stream waits for another one; the host does not wait
    WindowMark, ///< the profiler's own marks of its start and end
};

struct Name {
    std::uint64_t hash = 0;
    const char* text = nullptr; ///< raw
    std::uint32_t length = 0;
    std::uint32_t id = 0;    ///< StringId of the displayed name
    std::int64_t number = 0; ///< Step: its index
    NameUse use = NameUse::Plain;
    CopyName copy;
};

/// The names that one scanning thread has seen, by raw JSON text.
class Names {
public:
    explicit Names(SharedBuild& shared);
    /// Valid until the next call.
    const Name& find(std::string_view raw, bool odd);

private:
    const Name& add(std::uint64_t hash, std::string_view raw, bool odd);
    const char* keep(std::string_view raw);
    void grow();

    SharedBuild& m_shared;
    std::vector<std::uint32_t> m_slots; ///< index into m_names + 1; 0: free. The size is a power of two
    std::vector<Name> m_names;
    std::vector<std::unique_ptr<char[]>> m_blocks;
    std::size_t m_room = 0; ///< bytes left in the last block
};

} // namespace profiler::formats::json
