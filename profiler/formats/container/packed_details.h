#pragma once

#include "profiler/formats/container/details_codec.h"
#include "profiler/formats/container/section.h"
#include "profiler/model/arg_source.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace profiler::packed {

/// The position of a Details section.
struct DetailsEntry {
    std::uint64_t first = 0; ///< number of its first slice
    std::uint64_t offset = 0;
};

/// The content of the DetailsIndex section.
struct DetailsIndex {
    std::vector<DetailsEntry> entries; ///< sorted by number and by position
    std::uint64_t unread = 0;          ///< slices whose details could not be read when the copy was made
    std::string whyUnread{};
};
Bytes encodeDetailsIndex(const DetailsIndex& index);
/// Empty if the bytes are not an index.
std::optional<DetailsIndex> decodeDetailsIndex(std::span<const std::byte> raw);

/// The details in a packed file, read section by section. The last section stays decoded.
class PackedDetails final : public ArgSource {
public:
    /// @param entries  sorted by number
    PackedDetails(std::shared_ptr<const SectionFile> file, std::vector<DetailsEntry> entries)
        : m_file(std::move(file)), m_entries(std::move(entries))
    {
    }
    [[nodiscard]] Result<SliceDetails> read(std::uint64_t source) const override;
    void readMany(std::span<const std::uint64_t> sources,
                  const std::function<bool(Result<SliceDetails>)>& take) const override;

private:
    using Section = std::shared_ptr<const DecodedDetails>;
    [[nodiscard]] Result<Section> sectionOf(std::uint64_t source) const;
    static Result<SliceDetails> readFrom(const Result<Section>& section, std::uint64_t source);

    std::shared_ptr<const SectionFile> m_file;
    std::vector<DetailsEntry> m_entries;
    mutable std::mutex m_mutex; ///< guards the members below; held only briefly
    mutable Section m_last;
};

} // namespace profiler::packed
