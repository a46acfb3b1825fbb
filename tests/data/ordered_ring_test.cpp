#include "trainer/data/ordered_ring.h"

#include <gmock/gmock.h>
#include <memory>
#include <thread>

namespace trainer::data {
namespace {

using testing::ElementsAre;

/// Notes the waits of one producer.
struct Waits {
    std::vector<RingWait> begun;
    int ended = 0;
    void begin(RingWait wait) { begun.push_back(wait); }
    void end() { ++ended; }
};

TEST(OrderedRing, DeliversItemsInOrder)
{
    OrderedRing<int> ring(3, false);
    Waits waits;
    ring.begin(3);
    ASSERT_EQ(ring.claim(waits), 0);
    ASSERT_EQ(ring.claim(waits), 1);
    ASSERT_EQ(ring.claim(waits), 2);
    ring.deliver(2, 22);
    ring.deliver(0, 20);
    ring.deliver(1, 21);
    EXPECT_EQ(ring.take(), 20);
    EXPECT_EQ(ring.take(), 21);
    EXPECT_EQ(ring.take(), 22);
    EXPECT_EQ(ring.take(), std::nullopt);
    EXPECT_TRUE(waits.begun.empty());
}

TEST(OrderedRing, AProducerWithoutWorkEndsOrWaitsForTheNextRound)
{
    Waits waits;
    OrderedRing<int> once(1, false);
    once.begin(0);
    EXPECT_EQ(once.claim(waits), std::nullopt);
    EXPECT_TRUE(waits.begun.empty());

    OrderedRing<int> again(1, true);
    again.begin(0);
    std::thread producer([&] {
        EXPECT_EQ(again.claim(waits), 0);
        again.deliver(0, 7);
    });
    again.begin(1);
    EXPECT_EQ(again.take(), 7);
    producer.join();
    EXPECT_EQ(waits.ended, std::ssize(waits.begun));
}

TEST(OrderedRing, AFullRingBlocksItsProducerUntilAnItemIsTaken)
{
    OrderedRing<int> ring(1, false);
    Waits waits;
    ring.begin(2);
    std::thread producer([&] {
        while (const auto number = ring.claim(waits))
            ring.deliver(*number, static_cast<int>(*number));
    });
    EXPECT_EQ(ring.take(), 0);
    EXPECT_EQ(ring.take(), 1);
    EXPECT_EQ(ring.take(), std::nullopt);
    producer.join();
    for (const RingWait wait : waits.begun)
        EXPECT_EQ(wait, RingWait::Full);
}

TEST(OrderedRing, GivingUpFreesDeliveredItemsAndDropsItemsInProgress)
{
    OrderedRing<std::shared_ptr<int>> ring(2, true);
    Waits waits;
    ring.begin(5);
    const auto item = std::make_shared<int>(1);
    ring.deliver(*ring.claim(waits), item);
    ASSERT_EQ(ring.claim(waits), 1);
    ASSERT_TRUE(ring.mayContinue(waits));
    std::thread consumer([&] { ring.giveUp(); });
    while (ring.mayContinue(waits))
        std::this_thread::yield();
    ring.drop();
    consumer.join();
    EXPECT_EQ(item.use_count(), 1);
    ring.begin(1);
    EXPECT_EQ(ring.claim(waits), 0);
}

TEST(OrderedRing, AnItemOfAGivenUpRoundIsNotTakenInTheNext)
{
    OrderedRing<int> ring(2, true);
    Waits waits;
    ring.begin(5);
    ASSERT_EQ(ring.claim(waits), 0);
    std::thread consumer([&] { ring.giveUp(); });
    while (ring.mayContinue(waits))
        std::this_thread::yield();
    ring.deliver(0, 99); // the producer had just finished
    consumer.join();
    ring.begin(1);
    ASSERT_EQ(ring.claim(waits), 0);
    ring.deliver(0, 1);
    EXPECT_EQ(ring.take(), 1);
}

TEST(OrderedRing, GivingUpWaitsForProducersThatAreParkedOrJustWoken)
{
    for (int i = 0; i < 200; ++i) {
        OrderedRing<int> ring(2, true);
        ring.begin(5);
        std::atomic<bool> claimed = false, dropped = false;
        std::thread producer([&] {
            Waits waits;
            ASSERT_EQ(ring.claim(waits), 0);
            claimed = true;
            while (ring.mayContinue(waits))
                std::this_thread::yield();
            dropped = true;
            ring.drop();
        });
        while (!claimed)
            std::this_thread::yield();
        ring.park();
        if (i % 2 == 0)
            ring.unpark(); // the producer may not have noticed when the round is given up
        ring.giveUp();
        EXPECT_TRUE(dropped);
        ring.begin(1);
        producer.join();
    }
}

TEST(OrderedRing, CancelWakesConsumerAndProducers)
{
    OrderedRing<int> ring(1, true);
    ring.begin(3);
    std::thread consumer([&] { EXPECT_EQ(ring.take(), std::nullopt); });
    Waits first, second;
    ASSERT_EQ(ring.claim(first), 0);
    std::thread full([&] { EXPECT_EQ(ring.claim(second), std::nullopt); });
    ring.cancel();
    EXPECT_FALSE(ring.mayContinue(first));
    ring.drop();
    EXPECT_EQ(ring.claim(first), std::nullopt);
    EXPECT_EQ(ring.take(), std::nullopt);
    consumer.join();
    full.join();
}

TEST(OrderedRing, ParkedProducersPauseBetweenItemsAndContinueAfterwards)
{
    OrderedRing<int> ring(2, false);
    Waits waits;
    ring.begin(1);
    std::atomic<int> pieces = 0;
    std::thread producer([&] {
        const auto number = ring.claim(waits);
        while (pieces < 1000 && ring.mayContinue(waits))
            ++pieces;
        ring.deliver(*number, pieces);
    });
    while (pieces == 0)
        std::this_thread::yield();
    ring.park();
    const int parkedAt = pieces;
    for (int i = 0; i < 100; ++i) {
        std::this_thread::yield();
        ASSERT_EQ(pieces, parkedAt);
    }
    ring.unpark();
    EXPECT_EQ(ring.take(), 1000);
    producer.join();
    if (parkedAt < 1000) {
        EXPECT_THAT(waits.begun, ElementsAre(RingWait::Parked));
    }
    EXPECT_EQ(waits.ended, std::ssize(waits.begun));
}

TEST(OrderedRing, ManyProducersKeepOrderAndBoundUnderParkingAndGivingUp)
{
    constexpr std::int64_t kCapacity = 5;
    OrderedRing<std::int64_t> ring(kCapacity, true);
    std::atomic<std::int64_t> inFlight = 0, most = 0;
    std::vector<std::thread> producers;
    for (int i = 0; i < 4; ++i)
        producers.emplace_back([&] {
            Waits waits;
            while (const auto number = ring.claim(waits)) {
                const std::int64_t now = ++inFlight;
                for (std::int64_t seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
                }
                bool whole = true;
                for (int piece = 0; whole && piece < 3; ++piece)
                    whole = ring.mayContinue(waits);
                --inFlight;
                if (whole)
                    ring.deliver(*number, *number);
                else
                    ring.drop();
            }
        });
    for (int round = 0; round < 60; ++round) {
        ring.begin(40);
        const bool early = round % 3 == 0;
        for (std::int64_t expected = 0; expected < (early ? 7 : 40); ++expected) {
            if (expected % 5 == 1) {
                ring.park();
                ring.unpark();
            }
            ASSERT_EQ(ring.take(), expected);
        }
        if (early) {
            ring.giveUp();
        } else {
            ASSERT_EQ(ring.take(), std::nullopt);
        }
    }
    ring.cancel();
    for (std::thread& producer : producers)
        producer.join();
    EXPECT_LE(most, kCapacity);
    EXPECT_GT(most, 0);
}

} // namespace
} // namespace trainer::data
