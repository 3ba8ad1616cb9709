package main

import (
	"context"
	"fmt"
	"sync"
)

// result is the outcome of one mutant.
type result struct {
	mutant
	outcome
}

// session tries mutants in order until as many as are wanted have compiled.
type session struct {
	try     func(context.Context, mutant) (outcome, error)
	mutants []mutant
	want    int
	ended   func(mutant, outcome) // nil: nobody looks

	mu      sync.Mutex // guards the following
	free    *sync.Cond
	next    int // of mutants
	pending int // under way
	counted int // compiled
	results []result
	err     error
}

// run returns one result for each mutant that was tried, in their order. The first error ends it.
func (s *session) run(ctx context.Context, workers int) ([]result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.free = sync.NewCond(&s.mu)
	s.results = make([]result, len(s.mutants))
	var working sync.WaitGroup
	for range workers {
		working.Go(func() {
			for i, ok := s.take(); ok; i, ok = s.take() {
				o, err := s.try(ctx, s.mutants[i])
				if err != nil {
					cancel()
				}
				s.put(i, o, err)
			}
		})
	}
	working.Wait()
	return s.results[:s.next], s.err
}

// take waits while those under way may be enough.
func (s *session) take() (i int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.err == nil && s.pending > 0 && s.counted+s.pending >= s.want {
		s.free.Wait()
	}
	if s.err != nil || s.counted >= s.want || s.next == len(s.mutants) {
		return 0, false
	}
	s.pending++
	s.next++
	return s.next - 1, true
}

func (s *session) put(i int, o outcome, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.free.Broadcast()
	s.pending--
	if err != nil {
		if s.err == nil {
			s.err = fmt.Errorf("%s: %w", describe(s.mutants[i]), err)
		}
		return
	}
	s.results[i] = result{s.mutants[i], o}
	if o != notCompiled {
		s.counted++
	}
	if s.ended != nil {
		s.ended(s.mutants[i], o)
	}
}
