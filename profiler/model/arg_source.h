#pragma once

#include "profiler/model/result.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace profiler {

/// Names and values of a slice's arguments as its file contains them, in the order of the file.
using SliceDetails = std::vector<std::pair<std::string, std::string>>;

/// Reads arguments that have no column from the file that a trace came from, on demand. An importer creates it and
/// passes it to the builder; the trace owns it.
class ArgSource {
public:
    virtual ~ArgSource() = default;
    /// @param source  the value passed to RawSlice::setSource: a byte offset or a row
    /// Fails if the file has changed, has been removed, or contains nothing for the slice. Thread-safe.
    [[nodiscard]] virtual Result<SliceDetails> read(std::uint64_t source) const = 0;
    /// Reads the details at many places, in order. For copies of a whole trace, in which neighbouring places follow
    /// each other. `take` returns false to stop. Thread-safe.
    virtual void readMany(std::span<const std::uint64_t> sources,
                          const std::function<bool(Result<SliceDetails>)>& take) const
    {
        for (const std::uint64_t source : sources)
            if (!take(read(source)))
                return;
    }
};

} // namespace profiler
