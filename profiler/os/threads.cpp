#include "profiler/os/threads.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

namespace profiler::os {

int threadId()
{
    return ::gettid();
}

void nameThread(const char* name)
{
    ::pthread_setname_np(::pthread_self(), name);
}

int allowedCores()
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (::sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    return static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)); // more cores than the fixed-size set can hold
}

} // namespace profiler::os
