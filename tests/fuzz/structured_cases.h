#pragma once

#include "tests/fuzz/mutator.h"

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

/// Structure-aware fuzzing: damage with intact checksums, lengths and compression, in places that random bytes never
/// reach.
namespace fuzz {

/// One kind of input: creates the bytes of a case from random numbers, and passes them to the readers.
struct Structure {
    std::string_view name;
    /// Deterministic: the same numbers give the same bytes.
    std::function<Bytes(Mutator&)> make;
    /// Reads the case. Aborts if a reader silently accepts damaged bytes: the trace differs from the undamaged one and
    /// does not report a loss.
    std::function<void(const Bytes&)> run;
    /// The case that reads an undamaged file, if a case consists of more than the bytes of a file.
    std::function<Bytes(const Bytes&)> caseOfFile = [](const Bytes& file) { return file; };
};

/// Finished traces (.sspack): sections that were changed and packed again, and flipped bits with unchanged checksums.
Structure containerCases();
/// Traces of killed runs: frames with correct checksums, and their ring file.
Structure liveCases();
/// PyTorch and Chrome JSON: changed values, keys and events; plain, gzip and zstd.
Structure jsonCases();
/// Nsight Systems exports: cells, columns and tables changed through SQL, so that each file is a valid database.
Structure nsysCases();
/// Configurations of a training run.
Structure configurationCases();

/// The structure with this name, or all of them for "all"; empty if there is none.
inline std::vector<Structure> structures(std::string_view name)
{
    struct Known {
        std::string_view name;
        Structure (*make)();
    };
    std::vector<Structure> found;
    for (const Known& known : {Known{"container", containerCases}, Known{"live", liveCases}, Known{"json", jsonCases},
                               Known{"nsys", nsysCases}, Known{"configuration", configurationCases}})
        if (name == known.name || name == "all")
            found.push_back(known.make());
    return found;
}

} // namespace fuzz
