#include "tests/data/allocation_count.h"

#include <cstdlib>
#include <new>

namespace {

thread_local std::int64_t count = 0;

void* counted(void* memory)
{
    ++count;
    if (!memory)
        throw std::bad_alloc();
    return memory;
}

void* aligned(std::size_t bytes, std::align_val_t alignment)
{
    const auto to = static_cast<std::size_t>(alignment);
    return std::aligned_alloc(to, (bytes + to - 1) / to * to);
}

} // namespace

// Every form of one object: what the library gave, ours may not free, and the other way round. (Arrays go through
// these, or are the library's on both ends.)
void* operator new(std::size_t bytes)
{
    return counted(std::malloc(bytes > 0 ? bytes : 1));
}
void* operator new(std::size_t bytes, std::align_val_t alignment)
{
    return counted(aligned(bytes, alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept
{
    ++count;
    return std::malloc(bytes > 0 ? bytes : 1);
}
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept
{
    ++count;
    return aligned(bytes, alignment);
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

namespace data_test {

std::int64_t allocationsOfThisThread()
{
    return count;
}

} // namespace data_test
