package params_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

func TestSpeechIsBoundedByCharactersAndTheCatalog(t *testing.T) {
	const tokens, seconds, characters = units.AudioOutput, units.Millis, units.Characters
	most := units.Counts{tokens: 1000, seconds: 30_000}
	l := &params.RequestedLimits{Units: units.Counts{characters: 100}}
	for name, c := range map[string]struct {
		most                units.Counts
		perToken, perSecond bool
		heard               int64
		want                units.Counts
		guess               bool
	}{
		"by the character":          {most: most, want: units.Counts{characters: 100}, heard: 5000},
		"by tokens":                 {most: most, perToken: true, want: units.Counts{characters: 100, tokens: 1000, seconds: 50_000}},
		"by tokens, measured":       {most: most, perToken: true, perSecond: true, heard: 5001, want: units.Counts{characters: 100, tokens: 101, seconds: 5001}},
		"longer than the bound":     {most: most, perToken: true, heard: 60_000, want: units.Counts{characters: 100, tokens: 1000, seconds: 50_000}},
		"by the second":             {most: most, perSecond: true, want: units.Counts{characters: 100, seconds: 30_000}},
		"by the second, measured":   {most: most, perSecond: true, heard: 10, want: units.Counts{characters: 100, seconds: 10}},
		"tokens that are not known": {perToken: true, want: units.Counts{characters: 100, tokens: 200, seconds: 10_000}, guess: true},
		"longer than the guess":     {perSecond: true, heard: 60_000, want: units.Counts{characters: 100, seconds: 60_000}, guess: true},
	} {
		if got := l.Speech(c.most, c.perToken, c.perSecond).Heard(c.heard); got.Units != c.want || got.Guess != c.guess {
			t.Errorf("%s: %v, want %v %v", name, got, c.want, c.guess)
		}
	}
}

func TestATranscriptIsBoundedByTheLengthOfItsSound(t *testing.T) {
	const tokens, seconds = units.AudioInput, units.Millis
	l := &params.RequestedLimits{Units: units.Counts{seconds: 20_000}, Heard: 10_000}
	for name, c := range map[string]struct {
		most              int64
		perToken, ownRate bool
		heard             int64
		want              params.Made
	}{
		"by the second":           {want: params.Made{Units: units.Counts{seconds: 20_000}}},
		"by the second, measured": {heard: 10_001, want: params.Made{Units: units.Counts{seconds: 10_001}}},
		"by tokens":               {perToken: true, want: params.Made{Units: units.Counts{seconds: 20_000}, Prompt: 400, Text: 160}},
		"by tokens, measured": {
			most: 100, perToken: true, ownRate: true, heard: 10_001,
			want: params.Made{Units: units.Counts{seconds: 10_001, tokens: 201}, Prompt: 201, Text: 100},
		},
	} {
		if got := l.Transcript(c.most, c.perToken, c.ownRate).Heard(c.heard); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if used := l.Used(); used[seconds] != 10_000 {
		t.Errorf("used %v", used)
	}
}
