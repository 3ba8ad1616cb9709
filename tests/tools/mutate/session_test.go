package main

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func numbered(n int) (mutants []mutant) {
	for i := range n {
		mutants = append(mutants, mutant{file: "p.go", line: i})
	}
	return mutants
}

func TestMutantsThatDoNotCompileAreReplacedByTheNext(t *testing.T) {
	try := func(_ context.Context, m mutant) (outcome, error) {
		if m.line%3 == 0 {
			return notCompiled, nil
		}
		return noticed, nil
	}
	for _, tc := range []struct{ all, want, tried int }{
		{all: 100, want: 10, tried: 15}, // 0 to 14, of them 0, 3, 6, 9, 12
		{all: 100, want: 100, tried: 100},
		{all: 0, want: 1, tried: 0},
	} {
		for _, workers := range []int{1, 4} {
			s := &session{try: try, mutants: numbered(tc.all), want: tc.want}
			results, err := s.run(t.Context(), workers)
			if err != nil || len(results) != tc.tried {
				t.Errorf("%d of %d with %d workers: %d tried, want %d; error %v", tc.want, tc.all, workers, len(results), tc.tried, err)
			}
			for i, r := range results {
				if r.line != i || (r.outcome == notCompiled) != (i%3 == 0) {
					t.Errorf("result %d is mutant %d, %s", i, r.line, r.outcome)
				}
			}
		}
	}
}

func TestTheFirstErrorEndsASession(t *testing.T) {
	broken := errors.New("no space left")
	try := func(ctx context.Context, m mutant) (outcome, error) {
		if m.line == 1 {
			return 0, broken
		}
		<-ctx.Done()
		return 0, ctx.Err()
	}
	s := &session{try: try, mutants: numbered(100), want: 50}
	if _, err := s.run(t.Context(), 3); !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "p.go:1: ") {
		t.Errorf("got %v", err)
	}
}

func TestAReportCountsOutcomesAndListsWhatWasMissed(t *testing.T) {
	at := func(line int, o outcome) result {
		return result{mutant{file: "/elsewhere/p.go", line: line, start: line, before: "a < b", after: "a <= b"}, o}
	}
	var w strings.Builder
	report(&w, []result{at(9, missed), at(1, noticed), at(2, notCompiled), at(3, timedOut), at(4, missed), at(5, noticed)})
	want := `noticed              2
timed out            1  (counts as noticed)
missed               2
does not compile     1  (not counted)
3 of 5 mutants noticed
/elsewhere/p.go:4: a < b -> a <= b
/elsewhere/p.go:9: a < b -> a <= b
`
	if w.String() != want {
		t.Errorf("got\n%s\nwant\n%s", w.String(), want)
	}
}
