package main

import "math/rand/v2"

// draw puts mutants into a random order in which all sites count alike: one mutant of each site
// comes before the second of any. The same seed gives the same order.
func draw(sites []site, seed uint64) []mutant {
	random := rand.New(rand.NewPCG(seed, 0))
	order := make([]site, len(sites))
	for i, from := range random.Perm(len(sites)) {
		for _, j := range random.Perm(len(sites[from])) {
			order[i] = append(order[i], sites[from][j])
		}
	}
	var drawn []mutant
	for round, more := 0, true; more; round++ {
		more = false
		for _, s := range order {
			if round < len(s) {
				drawn = append(drawn, s[round])
				more = true
			}
		}
	}
	return drawn
}
