#pragma once

#include "profiler/model/result.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace profiler::formats::pickle {

/// A value in a Document, by number.
struct Ref {
    std::uint32_t index = 0;
    friend bool operator==(Ref, Ref) = default;
};

/// The values of a pickle. Several containers may share a value, and a container may contain itself, so code that
/// visits values must limit the depth.
class Document {
public:
    enum class Kind : std::uint8_t { None, Bool, Integer, Real, Text, List, Dict };

    [[nodiscard]] Ref root() const { return m_root; }
    [[nodiscard]] Kind kind(Ref value) const { return m_values[value.index].kind; }
    /// A bool is 0 or 1. Empty for another kind. Integers beyond 64 bits are cut to their low 64 bits.
    [[nodiscard]] std::optional<std::int64_t> integer(Ref value) const;
    /// A str or bytes; empty for another kind.
    [[nodiscard]] std::string_view text(Ref value) const;
    /// The elements of a list or tuple; of a dict, its keys and values in turn. Empty for another kind.
    [[nodiscard]] std::span<const Ref> elements(Ref value) const;
    /// The value of a key of a dict; the last one if the key is repeated.
    [[nodiscard]] std::optional<Ref> find(Ref dict, std::string_view key) const;

private:
    friend class Reader;
    struct Value {
        Kind kind = Kind::None;
        std::uint32_t size = 0;    ///< Text: bytes
        std::uint64_t payload = 0; ///< a number; Text: offset in the file; a container: position in m_containers
    };
    std::string_view m_bytes;
    std::vector<Value> m_values;
    std::vector<std::vector<Ref>> m_containers;
    Ref m_root;
};

/// Reads a pickle of protocol 2 to 5 that consists of None, bool, int, float, str, bytes, list, tuple and dict. It runs
/// no code: an opcode that would import, call or build anything else is an error that names it (pickle.code,
/// pickle.opcode). Texts are views of `bytes`, which must outlive the document. Each number of bytes or elements is
/// checked against what is left, and the number of values is limited (pickle.too_large).
/// @param where  the file, for messages
Result<Document> read(std::string_view bytes, const std::string& where);

/// True if the bytes start like a pickle of these protocols.
bool isPickle(std::span<const std::byte> head);

} // namespace profiler::formats::pickle
