#pragma once

#include <cstdint>
#include <string>

/// Memory that runs out where a test says so. Linking it replaces operator new.
namespace test_support {

/// Makes allocations of one thread fail for as long as it lives. One at a time.
class FailingMemory {
public:
    /// @param thread  the thread's name as pthread_setname_np() gave it: all its allocations fail
    explicit FailingMemory(const std::string& thread);
    /// Of the calling thread, one allocation fails: the one that `before` others precede.
    static FailingMemory once(std::int64_t before);
    ~FailingMemory();
    FailingMemory(const FailingMemory&) = delete;
    FailingMemory& operator=(const FailingMemory&) = delete;

    /// How many allocations have failed.
    [[nodiscard]] static int failures();

private:
    FailingMemory() = default;
};

} // namespace test_support
