#pragma once

#include "tests/fuzz/mutator.h"

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

/// Structure-aware fuzzing: damage behind intact checksums, lengths and compression, where random bytes never reach.
namespace fuzz {

/// One kind of input: makes the bytes of a case from its random numbers, and gives them to the readers.
struct Structure {
    std::string_view name;
    /// Deterministic: the same numbers give the same bytes.
    std::function<Bytes(Mutator&)> make;
    /// Reads the case. Aborts where a reader accepts damaged bytes silently: the trace differs from the undamaged one
    /// and nothing says so.
    std::function<void(const Bytes&)> run;
    /// The case that reads an undamaged file, where a case is more than the bytes of a file.
    std::function<Bytes(const Bytes&)> caseOfFile = [](const Bytes& file) { return file; };
};

/// Finished traces (.sspack): sections changed and packed anew, and bits flipped behind the checksums' back.
Structure containerCases();
/// Traces of runs that were killed: frames with right checksums, and the ring file beside them.
Structure liveCases();
/// PyTorch and Chrome JSON: values, keys and events changed as such; plain, gzip and zstd.
Structure jsonCases();
/// Nsight Systems exports: cells, columns and tables changed through SQL, so that each file is a sound database.
Structure nsysCases();
/// Configurations of a training run.
Structure configurationCases();

inline std::vector<Structure> structures()
{
    return {containerCases(), liveCases(), jsonCases(), nsysCases(), configurationCases()};
}

} // namespace fuzz
