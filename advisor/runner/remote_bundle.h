#pragma once

#include "profiler/model/result.h"

#include <string>

/// The recording part of this installation, for another machine: the terminal program with the libraries that it needs,
/// the injection library, and the Python package. No Qt, no LibTorch.
namespace advisor::runner {

struct RemoteBundle {
    std::string hash; ///< of the contents, in hexadecimal: equal contents are uploaded once
    std::string tar;  ///< an archive in the format ustar: bin/, lib/, share/
};

/// Reads the files next to the running program. Programs other than stepscope-cli run stepscope-cli for this, because
/// it knows its libraries. Fails if a part is missing or unreadable.
profiler::Result<RemoteBundle> makeRemoteBundle();

/// What the other program asks for: writes the bundle to standard output. @return the exit status for main()
int printRemoteBundle();

} // namespace advisor::runner
