#include "trainer/data/sentences.h"

#include "trainer/data/random.h"

#include <array>
#include <string_view>

namespace trainer::data {

namespace {

using Words = std::array<std::string_view, 8>;
constexpr Words kNouns = {"river", "engine", "painter", "garden", "window", "signal", "teacher", "mountain"};
constexpr Words kAdjectives = {"quiet", "old", "bright", "narrow", "patient", "distant", "green", "heavy"};
constexpr Words kVerbs = {"follow", "carry", "paint", "answer", "remember", "cover", "shelter", "visit"};
constexpr Words kPlaces = {"near the harbour", "before noon",    "in the valley",  "after the rain",
                           "under the bridge", "at the station", "without a word", "every morning"};

std::string_view pick(const Words& words, Random& random)
{
    return words[random.below(static_cast<std::uint32_t>(words.size()))];
}

std::string nounPhrase(Random& random, bool plural)
{
    std::string phrase = plural ? "the " : "a ";
    const std::string_view adjective = random.coin() ? pick(kAdjectives, random) : "";
    const std::string_view noun = pick(kNouns, random);
    const char first = adjective.empty() ? noun.front() : adjective.front();
    if (!plural && (first == 'a' || first == 'e' || first == 'o'))
        phrase = "an ";
    if (!adjective.empty())
        phrase += std::string(adjective) + " ";
    return phrase + std::string(noun) + (plural ? "s" : "");
}

std::string verbOf(std::string_view verb, bool plural)
{
    if (plural)
        return std::string(verb);
    return verb == "carry" ? "carries" : std::string(verb) + "s";
}

std::string clause(Random& random)
{
    const bool plural = random.coin();
    std::string text = nounPhrase(random, plural) + " " + verbOf(pick(kVerbs, random), plural) + " ";
    text += nounPhrase(random, random.coin());
    if (random.below(3) == 0)
        text += " " + std::string(pick(kPlaces, random));
    return text;
}

} // namespace

std::string writeSentences(std::int64_t bytes)
{
    Random random(1);
    std::string text;
    while (std::ssize(text) < bytes) {
        std::string sentence = clause(random);
        if (random.below(4) == 0)
            sentence += ", and " + clause(random);
        sentence.front() = static_cast<char>(sentence.front() - 'a' + 'A');
        const bool quoted = random.below(5) == 0;
        text += quoted ? "\"" + sentence + ".\"" : sentence + ".";
        text += random.below(6) == 0 ? '\n' : ' ';
    }
    return text;
}

} // namespace trainer::data
