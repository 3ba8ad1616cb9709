package secret_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/secret"
)

// followed is a file that is followed, at a time that the test sets.
type followed struct {
	*secret.File
	path    string
	now     time.Time
	changes []string // "gone>value"
	logs    *observer.ObservedLogs
}

func follow(t *testing.T, content string) *followed {
	t.Helper()
	f := &followed{path: write(t, content), now: time.Now().Add(time.Hour)}
	text, err := secret.Parse("{file." + f.path + "}")
	if err != nil {
		t.Fatal(err)
	}
	if err := text.Check(oneLine); err != nil {
		t.Fatal(err)
	}
	core, logs := observer.New(zap.InfoLevel)
	f.File, f.logs = text.File(), logs
	f.Follow(secret.Follow{Now: func() time.Time { return f.now }, Logger: zap.New(core), Changed: func(gone, value string) {
		f.changes = append(f.changes, gone+">"+value)
	}})
	f.want(t, content)
	return f
}

func oneLine(value string) error {
	if strings.Contains(value, "\n") {
		return errors.New("it has several lines")
	}
	return nil
}

func (f *followed) want(t *testing.T, value string) {
	t.Helper()
	if got := f.Value(); got != value {
		t.Errorf("the value is %q, want %q", got, value)
	}
}

// rewrite replaces the content in place; the file then has the given time of change.
func (f *followed) rewrite(t *testing.T, content string, changed time.Time) {
	t.Helper()
	if err := errors.Join(os.WriteFile(f.path, []byte(content), 0o600), os.Chtimes(f.path, changed, changed)); err != nil {
		t.Fatal(err)
	}
}

func (f *followed) messages() (list []string) {
	for _, line := range f.logs.All() {
		list = append(list, fmt.Sprint(line.Message, line.ContextMap()))
	}
	return list
}

func TestAFileThatIsNotFollowedKeepsItsValue(t *testing.T) {
	path := write(t, "one")
	text, err := secret.Expand("Bearer {file." + path + "}")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("two"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text.Value() != "Bearer one" || text.Secret() != "one" || text.Literal() {
		t.Errorf("value %q, secret %q", text.Value(), text.Secret())
	}
}

func TestAChangedFileIsReadAgainWithinASecond(t *testing.T) {
	f := follow(t, "one")
	f.rewrite(t, "two", f.now)
	f.want(t, "one")
	f.now = f.now.Add(999 * time.Millisecond)
	f.want(t, "one")
	f.now = f.now.Add(time.Millisecond)
	f.want(t, "two")

	// A file that is renamed over it, or another target of a link, may have the same size and time.
	info, err := os.Stat(f.path)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other")
	if err := errors.Join(os.WriteFile(other, []byte("six\n"), 0o600), os.Chtimes(other, info.ModTime(), info.ModTime()), os.Rename(other, f.path)); err != nil {
		t.Fatal(err)
	}
	f.now = f.now.Add(time.Hour)
	f.want(t, "six")
	if got := strings.Join(f.changes, " "); got != ">one >two one>six" {
		t.Errorf("changes %q", got)
	}
	if lines := f.messages(); len(lines) != 2 || !strings.Contains(lines[0], "its new content is used") || strings.Contains(fmt.Sprint(lines), "two") {
		t.Errorf("logged %q", lines)
	}
}

// File systems count time in steps: two changes may have one time.
func TestAChangeAtTheSameTimeAsTheLastIsSeen(t *testing.T) {
	f := follow(t, "one")
	changed := f.now
	f.now = f.now.Add(time.Second)
	f.rewrite(t, "two", changed)
	f.want(t, "two")
	f.rewrite(t, "six", changed)
	f.now = f.now.Add(time.Second)
	f.want(t, "six")
}

func TestAFileThatCannotBeUsedKeepsTheLastValueAndIsLoggedOnce(t *testing.T) {
	for name, breaks := range map[string]func(*followed) error{
		"empty":     func(f *followed) error { f.rewrite(t, " \n", f.now); return nil },
		"two lines": func(f *followed) error { f.rewrite(t, "canary\nsecret", f.now); return nil },
		"too big":   func(f *followed) error { f.rewrite(t, strings.Repeat("x", 64<<10+1), f.now); return nil },
		"removed":   func(f *followed) error { return os.Remove(f.path) },
	} {
		t.Run(name, func(t *testing.T) {
			f := follow(t, "one")
			if err := breaks(f); err != nil {
				t.Fatal(err)
			}
			for range 5 {
				f.now = f.now.Add(time.Minute)
				f.want(t, "one")
			}
			lines := f.messages()
			if len(lines) != 1 || !strings.Contains(lines[0], "the last content stays") || !strings.Contains(lines[0], f.path) || strings.Contains(lines[0], "canary") {
				t.Errorf("logged %q", lines)
			}
			f.rewrite(t, "two", f.now)
			f.now = f.now.Add(time.Second)
			f.want(t, "two")
		})
	}
}

func TestManyCallsMayAskAtOnce(t *testing.T) {
	path := write(t, "one")
	text, err := secret.Parse("{file." + path + "}")
	if err != nil {
		t.Fatal(err)
	}
	clock := make(chan time.Time, 1)
	clock <- time.Now()
	text.File().Follow(secret.Follow{Logger: zap.NewNop(), Changed: func(string, string) {}, Now: func() time.Time {
		now := (<-clock).Add(time.Second)
		clock <- now
		return now
	}})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for range 50 {
				if i == 0 {
					_ = os.WriteFile(path, []byte("two"), 0o600)
				}
				if v := text.Value(); v != "one" && v != "two" {
					t.Errorf("value %q", v)
				}
			}
		})
	}
	wg.Wait()
	if v := text.Value(); v != "two" {
		t.Errorf("at last %q", v)
	}
}

func BenchmarkFileValue(b *testing.B) {
	path := filepath.Join(b.TempDir(), "secret")
	if err := os.WriteFile(path, []byte("one"), 0o600); err != nil {
		b.Fatal(err)
	}
	text, err := secret.Parse("{file." + path + "}")
	if err != nil {
		b.Fatal(err)
	}
	text.File().Follow(secret.Follow{Logger: zap.NewNop(), Changed: func(string, string) {}, Now: time.Now})
	b.ReportAllocs()
	for b.Loop() {
		text.Value()
	}
}
