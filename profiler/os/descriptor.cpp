#include "profiler/os/descriptor.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace profiler::os {

int Descriptor::close()
{
    return m_descriptor < 0 || ::close(release()) == 0 ? 0 : errno;
}

Descriptor aboveStandardStreams(int descriptor)
{
    if (descriptor < 0 || descriptor > 2)
        return Descriptor(descriptor);
    const int higher = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    const int number = errno;
    ::close(descriptor);
    errno = number;
    return Descriptor(higher);
}

} // namespace profiler::os
