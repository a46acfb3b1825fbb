#pragma once

#include <cstdint>
#include <string>

/// Counts allocations and makes them fail where a test requests it. Linking this library replaces operator new.
namespace test_support {

/// Makes allocations of one thread fail while this object exists. Only one may exist at a time.
class FailingMemory {
public:
    /// @param thread  name of the thread, as passed to pthread_setname_np(): all its allocations fail
    explicit FailingMemory(const std::string& thread);
    /// Makes one allocation of the calling thread fail: the one after `before` successful ones.
    static FailingMemory once(std::int64_t before);
    ~FailingMemory();
    FailingMemory(const FailingMemory&) = delete;
    FailingMemory& operator=(const FailingMemory&) = delete;

    /// Number of allocations that have failed.
    [[nodiscard]] static int failures();

private:
    FailingMemory() = default;
};

/// Number of calls of operator new by this thread.
std::int64_t allocationsOfThisThread();

} // namespace test_support
