#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace profiler {

/// The contents of a SharedLog at the time the view was taken. Immutable; may be read on any thread while the log
/// grows.
template <class T, std::size_t ChunkSize>
class SharedLogView {
public:
    using Chunk = std::array<T, ChunkSize>;
    SharedLogView() = default;
    SharedLogView(std::vector<std::shared_ptr<const Chunk>> chunks, std::size_t size)
        : m_chunks(std::move(chunks)), m_size(size)
    {
    }

    [[nodiscard]] std::size_t size() const { return m_size; }
    [[nodiscard]] const T& operator[](std::size_t index) const
    {
        return (*m_chunks[index / ChunkSize])[index % ChunkSize];
    }
    [[nodiscard]] std::size_t bytes() const { return m_chunks.size() * (sizeof(Chunk) + sizeof(m_chunks[0])); }

private:
    std::vector<std::shared_ptr<const Chunk>> m_chunks;
    std::size_t m_size = 0;
};

/// An append-only list whose entries never move, so snapshots can share them with the writer: a view reads only entries
/// that were written before it was taken. Supports one writer.
template <class T, std::size_t ChunkSize>
class SharedLog {
public:
    using View = SharedLogView<T, ChunkSize>;

    void push_back(T value)
    {
        if (m_size % ChunkSize == 0)
            m_chunks.push_back(std::make_shared<typename View::Chunk>());
        (*m_chunks.back())[m_size % ChunkSize] = std::move(value);
        ++m_size;
    }
    [[nodiscard]] std::size_t size() const { return m_size; }
    [[nodiscard]] const T& operator[](std::size_t index) const
    {
        return (*m_chunks[index / ChunkSize])[index % ChunkSize];
    }
    [[nodiscard]] View view() const { return {{m_chunks.begin(), m_chunks.end()}, m_size}; }

private:
    std::vector<std::shared_ptr<typename View::Chunk>> m_chunks;
    std::size_t m_size = 0;
};

} // namespace profiler
