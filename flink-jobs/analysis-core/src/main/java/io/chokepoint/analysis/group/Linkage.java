// SPDX-License-Identifier: Apache-2.0
package io.chokepoint.analysis.group;

import java.util.ArrayList;
import java.util.List;

/** Average linkage [SOK58]: the two clusters whose members agree best on average are joined while that is more than chance. */
final class Linkage {
    /**
     * Flows that agree.
     *
     * @param agreement mean concordance of its pairs
     */
    record Cluster(List<Candidate> members, double agreement) {}

    private final List<Candidate> candidates;
    private final double[][] values; // by candidate
    private final double[][] margins; // by cluster, summed over pairs
    private final int[][] pairs; // that are known
    private final List<List<Integer>> clusters = new ArrayList<>();

    private Linkage(List<Candidate> candidates) {
        int size = candidates.size();
        this.candidates = candidates;
        this.values = new double[size][size];
        this.margins = new double[size][size];
        this.pairs = new int[size][size];
        for (int i = 0; i < size; i++) {
            clusters.add(new ArrayList<>(List.of(i)));
            for (int j = 0; j < i; j++) {
                Concordance pair = Concordance.of(
                        candidates.get(i).delaysMicros(), candidates.get(j).delaysMicros());
                values[i][j] = pair.isKnown() ? pair.value() : Double.NaN;
                margins[i][j] = pair.isKnown() ? pair.margin() : 0;
                pairs[i][j] = pair.isKnown() ? 1 : 0;
            }
        }
    }

    /** Clusters of two at least, of candidates in the order of their names. */
    static List<Cluster> clusters(List<Candidate> candidates) {
        Linkage linkage = new Linkage(candidates);
        while (linkage.join()) {
            // The best two are one now.
        }
        return linkage.clusters.stream()
                .filter(cluster -> cluster.size() > 1)
                .map(linkage::cluster)
                .toList();
    }

    /** Joins the best two clusters, the first of them if several are as good; false if none agree. */
    private boolean join() {
        int bestRow = -1;
        int bestColumn = -1;
        double best = 0;
        for (int i = 0; i < clusters.size(); i++) {
            for (int j = 0; j < i; j++) {
                if (pairs[i][j] > 0 && margins[i][j] / pairs[i][j] > best) {
                    best = margins[i][j] / pairs[i][j];
                    bestRow = i;
                    bestColumn = j;
                }
            }
        }
        if (bestRow < 0) {
            return false;
        }
        merge(bestRow, bestColumn);
        return true;
    }

    /** Adds the later cluster to the earlier one; the last takes its place. */
    private void merge(int later, int earlier) {
        int last = clusters.size() - 1;
        for (int k = 0; k <= last; k++) {
            if (k != later && k != earlier) {
                add(margins, pairs, earlier, k, later);
            }
        }
        clusters.get(earlier).addAll(clusters.get(later));
        for (int k = 0; k < last; k++) {
            if (k != later) {
                move(k, later, last);
            }
        }
        clusters.set(later, clusters.get(last));
        clusters.remove(last);
    }

    private static void add(double[][] sums, int[][] counts, int to, int other, int from) {
        int row = Math.max(to, other);
        int column = Math.min(to, other);
        sums[row][column] += sums[Math.max(from, other)][Math.min(from, other)];
        counts[row][column] += counts[Math.max(from, other)][Math.min(from, other)];
    }

    private void move(int other, int to, int from) {
        int row = Math.max(to, other);
        int column = Math.min(to, other);
        margins[row][column] = margins[Math.max(from, other)][Math.min(from, other)];
        pairs[row][column] = pairs[Math.max(from, other)][Math.min(from, other)];
    }

    private Cluster cluster(List<Integer> indices) {
        List<Integer> sorted = indices.stream().sorted().toList();
        double sum = 0;
        int known = 0;
        for (int i : sorted) {
            for (int j : sorted) {
                if (j < i && !Double.isNaN(values[i][j])) {
                    sum += values[i][j];
                    known++;
                }
            }
        }
        return new Cluster(sorted.stream().map(candidates::get).toList(), sum / Math.max(1, known));
    }
}
