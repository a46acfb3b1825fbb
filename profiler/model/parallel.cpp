#include "profiler/model/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace profiler {

void parallelFor(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work)
{
    std::atomic<std::size_t> next = 0;
    std::exception_ptr thrown; // the first exception; if it left a thread, it would terminate the program
    std::mutex mutex;
    const auto loop = [&] {
        try {
            for (std::size_t i = next++; i < count; i = next++)
                work(i);
        } catch (...) {
            next = count;
            const std::lock_guard lock(mutex);
            if (!thrown)
                thrown = std::current_exception();
        }
    };
    std::vector<std::jthread> others;
    const std::size_t wanted = std::min<std::size_t>(threads, count);
    try {
        while (others.size() + 1 < wanted)
            others.emplace_back(loop);
    } catch (const std::system_error&) {
        // No more threads can be started: the running ones do the work.
    }
    loop();
    others.clear(); // joins them
    if (thrown)
        std::rethrow_exception(thrown);
}

} // namespace profiler
