#include "tests/support/failing_memory.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <pthread.h>

namespace {

constexpr std::size_t kNameBytes = 16; // maximum length of a thread name in Linux

std::atomic<bool> isThreadFailing = false;
std::array<char, kNameBytes> failingThread{}; // written only while isThreadFailing is false
thread_local std::int64_t left = -1;          // number of allocations before the failing one; -1 for no failure
std::atomic<int> failed = 0;
thread_local std::int64_t allocations = 0;

bool fails()
{
    if (left >= 0 && left-- == 0)
        return true;
    if (!isThreadFailing)
        return false;
    std::array<char, kNameBytes> name{};
    pthread_getname_np(pthread_self(), name.data(), name.size());
    return std::strcmp(name.data(), failingThread.data()) == 0;
}

void* allocate(std::size_t bytes, std::size_t alignment)
{
    void* memory = nullptr;
    ++allocations;
    if (fails())
        ++failed;
    else if (alignment == 0)
        memory = std::malloc(bytes > 0 ? bytes : 1);
    else
        memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    return memory;
}

void* allocateOrThrow(std::size_t bytes, std::size_t alignment)
{
    if (void* const memory = allocate(bytes, alignment))
        return memory;
    throw std::bad_alloc();
}

} // namespace

void* operator new(std::size_t bytes)
{
    return allocateOrThrow(bytes, 0);
}
void* operator new(std::size_t bytes, std::align_val_t alignment)
{
    return allocateOrThrow(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept
{
    return allocate(bytes, 0);
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept
{
    return allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept
{
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept
{
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept
{
    std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept
{
    std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept
{
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept
{
    std::free(memory);
}

namespace test_support {

FailingMemory::FailingMemory(const std::string& thread)
{
    failed = 0;
    failingThread = {};
    thread.copy(failingThread.data(), kNameBytes - 1);
    isThreadFailing = true;
}

FailingMemory FailingMemory::once(std::int64_t before)
{
    failed = 0;
    left = before;
    return {};
}

FailingMemory::~FailingMemory()
{
    isThreadFailing = false;
    left = -1;
}

int FailingMemory::failures()
{
    return failed;
}

std::int64_t allocationsOfThisThread()
{
    return allocations;
}

} // namespace test_support
