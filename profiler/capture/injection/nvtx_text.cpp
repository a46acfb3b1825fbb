#include "profiler/capture/injection/nvtx_text.h"

#include "profiler/capture/thread_buffer_impl.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstring>

namespace profiler::capture::injection {

namespace {

constexpr std::string_view kUnnamed = "(unnamed)";
// Payloads that are not integers become strings. Their number is limited, so that the loss of every step cannot fill
// the string table.
constexpr std::uint32_t kMostPayloadTexts = 4096;
std::atomic<std::uint32_t> g_payloadTexts{0};

void appendHex(std::string& text, std::uint32_t number, int digits)
{
    for (int shift = (digits - 1) * 4; shift >= 0; shift -= 4)
        text += "0123456789abcdef"[number >> shift & 15];
}

/// "category io · colour #ff8800"
std::string categoryAndColour(const NvtxDomain& domain, const nvtxEventAttributes_t& attributes)
{
    std::string text;
    if (attributes.category != 0)
        text = "category " + nvtxRegistry().category(domain, attributes.category);
    if (attributes.colorType == NVTX_COLOR_ARGB) {
        text += text.empty() ? "colour #" : " · colour #";
        appendHex(text, attributes.color & 0xFFFFFF, 6);
    }
    return text;
}

/// Text for a floating-point payload; empty for integers, which have a separate field.
std::string fractionalPayload(const nvtxEventAttributes_t& attributes)
{
    double value = 0;
    if (attributes.payloadType == NVTX_PAYLOAD_TYPE_DOUBLE)
        value = attributes.payload.dValue;
    else if (attributes.payloadType == NVTX_PAYLOAD_TYPE_FLOAT)
        value = static_cast<double>(attributes.payload.fValue);
    else
        return {};
    if (g_payloadTexts.fetch_add(1, std::memory_order_relaxed) >= kMostPayloadTexts)
        return "payload not recorded: too many different values";
    char digits[32];
    const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
    return "payload " + std::string(digits, end);
}

std::int64_t wholePayload(const nvtxEventAttributes_t& attributes)
{
    switch (attributes.payloadType) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
        return static_cast<std::int64_t>(attributes.payload.ullValue);
    case NVTX_PAYLOAD_TYPE_INT64:
        return attributes.payload.llValue;
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT32:
        return attributes.payload.uiValue;
    case NVTX_PAYLOAD_TYPE_INT32:
        return attributes.payload.iValue;
    default:
        return 0;
    }
}

std::uint32_t messageId(ThreadState& thread, const nvtxEventAttributes_t& attributes)
{
    ThreadBuffer& buffer = *thread.buffer;
    switch (attributes.messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
        if (!attributes.message.ascii)
            return buffer.intern(kUnnamed);
        if (const std::uint32_t known = buffer.inlined().known(attributes.message.ascii))
            return known;
        return buffer.internAt(attributes.message.ascii);
    case NVTX_MESSAGE_TYPE_UNICODE:
        return buffer.intern(utf8(attributes.message.unicode));
    case NVTX_MESSAGE_TYPE_REGISTERED:
        if (auto* known = reinterpret_cast<RegisteredString*>(attributes.message.registered))
            return known->id(buffer, thread.generation);
        [[fallthrough]];
    default:
        return buffer.intern(kUnnamed);
    }
}

std::uint32_t detailId(ThreadState& thread, const NvtxDomain& domain, const nvtxEventAttributes_t& attributes)
{
    const bool whole =
        attributes.payloadType != NVTX_PAYLOAD_TYPE_DOUBLE && attributes.payloadType != NVTX_PAYLOAD_TYPE_FLOAT;
    const std::string number = whole ? std::string() : fractionalPayload(attributes);
    const bool coloured = attributes.colorType == NVTX_COLOR_ARGB;
    if (number.empty() && !coloured && attributes.category == 0)
        return 0;
    const std::uint64_t key = (std::uint64_t{attributes.category} << 32 | (attributes.color & 0xFFFFFF)) * 4099 +
                              domain.index * 2 + (coloured ? 1 : 0) + 1;
    if (number.empty() && thread.lastDetail.key == key)
        return thread.lastDetail.text;
    std::string text = categoryAndColour(domain, attributes);
    if (!number.empty()) {
        text += text.empty() ? number : " · " + number;
        return thread.buffer->intern(text);
    }
    thread.lastDetail = {key, thread.buffer->intern(text)};
    return thread.lastDetail.text;
}

void appendUtf8(std::string& text, std::uint32_t letter)
{
    if (letter > 0x10FFFF || (letter >= 0xD800 && letter < 0xE000))
        letter = 0xFFFD;
    if (letter < 0x80) {
        text += static_cast<char>(letter);
    } else if (letter < 0x800) {
        text += static_cast<char>(0xC0 | letter >> 6);
        text += static_cast<char>(0x80 | (letter & 63));
    } else if (letter < 0x10000) {
        text += static_cast<char>(0xE0 | letter >> 12);
        text += static_cast<char>(0x80 | (letter >> 6 & 63));
        text += static_cast<char>(0x80 | (letter & 63));
    } else {
        text += static_cast<char>(0xF0 | letter >> 18);
        text += static_cast<char>(0x80 | (letter >> 12 & 63));
        text += static_cast<char>(0x80 | (letter >> 6 & 63));
        text += static_cast<char>(0x80 | (letter & 63));
    }
}

/// The text after `key`.
std::string_view field(std::string_view text, std::string_view key)
{
    const std::size_t at = text.find(key);
    return at == std::string_view::npos ? std::string_view{} : text.substr(at + key.size());
}

} // namespace

std::string utf8(const wchar_t* text)
{
    std::string bytes;
    for (; text && *text; ++text)
        appendUtf8(bytes, static_cast<std::uint32_t>(*text));
    return bytes;
}

NvtxText readAttributes(ThreadState& thread, const NvtxDomain& domain, const nvtxEventAttributes_t* attributes)
{
    const auto read = [&](const nvtxEventAttributes_t& from) -> NvtxText {
        const bool plain =
            from.category == 0 && from.colorType != NVTX_COLOR_ARGB && from.payloadType == NVTX_PAYLOAD_UNKNOWN;
        if (plain)
            return {messageId(thread, from)};
        return {messageId(thread, from), detailId(thread, domain, from), wholePayload(from)};
    };
    if (attributes && attributes->size >= sizeof *attributes) [[likely]]
        return read(*attributes);
    // Fields that an older header did not have are zero, which means "no type".
    nvtxEventAttributes_t known{};
    if (attributes)
        std::memcpy(&known, attributes, std::min<std::size_t>(attributes->size, sizeof known));
    return read(known);
}

NvtxOperator parseOperator(std::string_view text)
{
    NvtxOperator found;
    const std::size_t end = std::min({text.find(", seq = "), text.find(", op_id = "), text.find(", sizes = ")});
    found.name = text.substr(0, end);
    if (end == std::string_view::npos)
        return found;
    const std::string_view fields = text.substr(end);
    const std::string_view sequence = field(fields, ", seq = ");
    std::from_chars(sequence.data(), sequence.data() + sequence.size(), found.sequence);
    found.shapes = field(fields, ", sizes = ");
    found.shapes = found.shapes.substr(0, found.shapes.find(", input_op_ids"));
    // Autograd nodes have names like AddmmBackward0, ReluBackward0…
    const std::size_t backward = found.name.rfind("Backward");
    found.backward =
        backward != std::string_view::npos &&
        found.name.find_first_not_of("0123456789", backward + std::strlen("Backward")) == std::string_view::npos;
    // A range that the program named through LibTorch (record_function) is usually not a single word:
    // "Optimizer.step#SGD.step".
    found.isOperator = found.backward || found.sequence >= 0 || found.name.find("::") != std::string_view::npos ||
                       std::all_of(found.name.begin(), found.name.end(),
                                   [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '_'; });
    return found;
}

} // namespace profiler::capture::injection
