#pragma once

#include <utility>

namespace profiler::os {

/// A file descriptor that is closed with its owner.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int descriptor) : m_descriptor(descriptor) {}
    ~Descriptor() { reset(); }
    Descriptor(Descriptor&& other) noexcept : m_descriptor(other.release()) {}
    Descriptor& operator=(Descriptor&& other) noexcept
    {
        if (this != &other) {
            reset();
            m_descriptor = other.release();
        }
        return *this;
    }
    [[nodiscard]] int get() const { return m_descriptor; }
    explicit operator bool() const { return m_descriptor >= 0; }
    /// Returns the descriptor; the caller must close it.
    int release() { return std::exchange(m_descriptor, -1); }
    void reset() { static_cast<void>(close()); }
    /// Closes the descriptor. Some file systems report only now that the disk is full.
    /// @return 0, or errno
    int close();

private:
    int m_descriptor = -1;
};

/// Takes ownership of a descriptor and moves it above 2: the numbers 0, 1 and 2 are the standard streams of a child.
/// @return an empty descriptor, with errno set, if there is no free number
Descriptor aboveStandardStreams(int descriptor);

} // namespace profiler::os
