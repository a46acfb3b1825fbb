#pragma once

#include <unistd.h>
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
    void reset()
    {
        if (m_descriptor >= 0)
            ::close(release());
    }

private:
    int m_descriptor = -1;
};

} // namespace profiler::os
