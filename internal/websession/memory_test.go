package websession_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/websession"
)

func TestTheEndOfASessionIsFoundInTime(t *testing.T) {
	used := func() time.Time { return time.Now().Add(-time.Minute) }
	for name, c := range map[string]struct {
		used func() time.Time
		want time.Duration
	}{
		"its desktop is used":           {used, 12 * time.Hour},
		"its desktop is open, not used": {func() time.Time { return time.Time{} }, time.Hour},
	} {
		t.Run(name, func(t *testing.T) { endsAfter(t, c.used, c.want) })
	}
}

func endsAfter(t *testing.T, used func() time.Time, want time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		life := websession.Life{Idle: time.Hour, Max: 12 * time.Hour}
		m := websession.NewMemory(time.Now)
		id, _ := m.Create(t.Context(), websession.Session{Key: "ops"}, life)
		ended := make(chan time.Time, 1)
		start := time.Now()
		stop := m.OnEnd(id, life, used, func() { ended <- time.Now() })
		if at := (<-ended).Sub(start); at < want || at > want+2*time.Second {
			t.Errorf("the session ends after %v", at)
		}
		stop()
		<-time.After(2 * time.Second) // the goroutine that looks has ended, else synctest fails
	})
}

func TestAWatchThatComesTooLateIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := websession.NewMemory(time.Now)
		ended := make(chan struct{})
		defer m.OnEnd("gone", websession.Life{}, func() time.Time { return time.Time{} }, func() { close(ended) })()
		<-ended
		<-time.After(2 * time.Second)
	})
}

// What ends by itself is found by the next poll; who signs out or is shut out is not waited for.
func TestTheEndThatSomebodyDecidesIsToldAtOnce(t *testing.T) {
	for name, end := range map[string]func(m *websession.Memory, id string){
		"sign-out": func(m *websession.Memory, id string) { _ = m.Delete(t.Context(), id) },
		"a reload": func(m *websession.Memory, _ string) { m.Retain(func(websession.Session) bool { return false }) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				life := websession.Life{Idle: time.Hour, Max: 12 * time.Hour}
				m := websession.NewMemory(time.Now)
				id, _ := m.Create(t.Context(), websession.Session{Key: "ops"}, life)
				told := false
				m.OnEnd(id, life, func() time.Time { return time.Time{} }, func() { told = true })
				synctest.Wait() // the first poll is over
				if end(m, id); !told {
					t.Error("it is not told at once")
				}
				<-time.After(2 * time.Second)
			})
		})
	}
}
