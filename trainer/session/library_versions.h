#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace trainer {

/// Versions of the GPU libraries loaded by this process, for the trace: "cudnn", "nccl", "cuda_runtime". Libraries that
/// are not loaded are omitted: a training on the CPU has none. Call it after choosing the device; it loads nothing.
std::map<std::string, std::string> loadedLibraryVersions();

/// "9.19.0" from 91900; before version 9, "8.9.7" from 8907.
std::string cudnnVersionText(std::int64_t number);
/// "2.28.9" from 22809; before 2.9, "2.8.4" from 2804.
std::string ncclVersionText(std::int64_t number);
/// "13.0" from 13000.
std::string cudaVersionText(std::int64_t number);

} // namespace trainer
