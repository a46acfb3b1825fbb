#pragma once

#include "profiler/model/result.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace profiler {

/// Names and values of a slice's arguments as its file has them, in the file's order.
using SliceDetails = std::vector<std::pair<std::string, std::string>>;

/// Reads the arguments that no column keeps from the file that a trace came from, when somebody asks. An importer makes
/// one and gives it to the builder; the trace holds it.
class ArgSource {
public:
    virtual ~ArgSource() = default;
    /// @param source  what RawSlice::setSource was given: a byte offset, a row
    /// Fails where the file has changed, is gone, or has nothing of a slice there. May be called on any thread.
    [[nodiscard]] virtual Result<SliceDetails> read(std::uint64_t source) const = 0;
    /// The details at many places, in their order: for copies of a whole trace, where a place's neighbours come next.
    /// `take` returns false to end it. May be called on several threads at once.
    virtual void readMany(std::span<const std::uint64_t> sources,
                          const std::function<bool(Result<SliceDetails>)>& take) const
    {
        for (const std::uint64_t source : sources)
            if (!take(read(source)))
                return;
    }
};

} // namespace profiler
