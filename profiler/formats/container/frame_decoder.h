#pragma once

#include "profiler/formats/container/frame.h"
#include "profiler/formats/container/ring_file.h"
#include "profiler/model/trace_builder.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace profiler::container {

/// Decodes the payloads of frames into a TraceBuilder. Accepts any bytes: references to undefined items (their frame
/// was damaged) get a placeholder name.
class FrameDecoder {
public:
    explicit FrameDecoder(TraceBuilder& builder);

    /// @return what is wrong with the payload, empty if nothing is. Everything before the fault is kept.
    std::string take(FrameType type, std::span<const std::byte> payload);
    /// Adds the events in the ring file of a killed run that `take` has not seen.
    /// @return the number of events
    std::size_t takeRecoveredEvents(const RecoveredEvents& recovered);

    [[nodiscard]] const LossEntry& loss() const { return m_loss; }
    /// What the recording reports as missing: the lines of the metadata named "….note".
    [[nodiscard]] const std::vector<Message>& notes() const { return m_notes; }
    /// Number of host events in missing frames, from gaps in the running indexes of the threads.
    [[nodiscard]] std::uint64_t missingEvents() const { return m_missing; }
    /// Number of invalid records: an end before its start, an unknown kind, a device record without its second half.
    [[nodiscard]] std::uint64_t oddRecords() const { return m_odd; }

private:
    /// A track of the file.
    struct KnownTrack {
        TrackId id;
        std::uint64_t taken = 0;           ///< largest firstIndex + count so far
        std::optional<TrackEntry> entry{}; ///< the last entry in the file
    };
    using Bytes = std::span<const std::byte>;

    std::string takeStrings(Bytes payload);
    std::string takeTracks(Bytes payload);
    std::string takeDevice(Bytes payload);
    std::string takeMetadata(Bytes payload);
    void takeFact(const std::string& key, const std::string& value);
    std::string takeClock(Bytes payload);
    std::string takeLoss(Bytes payload);
    std::string takeEvents(Bytes payload);
    std::string takePacked(Bytes payload);
    std::string takeProcess(Bytes payload);

    void defineString(std::uint32_t id, std::string_view text);
    void defineTrack(const TrackEntry& entry);
    /// @return the number of new records
    std::size_t takeBatch(const EventBatch& batch, std::span<const EventRecord> records);
    /// @param second  the second slot of a device record, if it has one
    void takeRecord(TrackId track, const EventRecord& record, const EventRecord* second);
    void addExtra(SliceArgs& args, const ExtraRecord& extra);
    void takeSample(const EventRecord& record);
    /// The builder's id of a string of the file.
    StringId string(std::uint32_t id);
    /// Empty if there are implausibly many tracks.
    KnownTrack* track(std::uint32_t number, TrackKind kindIfUnknown);
    std::string text(std::uint32_t id) { return std::string{m_builder.string(string(id))}; }

    TraceBuilder& m_builder;
    std::vector<std::optional<StringId>> m_strings;           ///< by id, for small ids
    std::unordered_map<std::uint32_t, StringId> m_farStrings; ///< strings with large ids
    std::unordered_map<std::uint32_t, KnownTrack> m_tracks;
    std::unordered_map<std::int64_t, std::string> m_processes; ///< names by pid
    LossEntry m_loss{};
    std::vector<Message> m_notes;
    static constexpr std::size_t kMostNotes = 100; ///< a damaged file may have any number of notes
    std::uint64_t m_missing = 0, m_odd = 0;
};

} // namespace profiler::container
