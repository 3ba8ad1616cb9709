package websession_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/websession"
)

func TestAnOpenDesktopIsUseOfItsSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		life := websession.Life{Idle: time.Hour, Max: 12 * time.Hour}
		m := websession.NewMemory(time.Now)
		id, _ := m.Create(t.Context(), websession.Session{Key: "ops"}, life)
		ended := make(chan time.Time, 1)
		start := time.Now()
		stop := m.OnEnd(id, life, func() { ended <- time.Now() })
		if at := (<-ended).Sub(start); at < life.Max || at > life.Max+2*time.Second {
			t.Errorf("the session of an open desktop ends after %v", at)
		}
		stop()
		<-time.After(2 * time.Second) // the goroutine that looks has ended, else synctest fails
	})
}

func TestAWatchThatComesTooLateIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := websession.NewMemory(time.Now)
		ended := make(chan struct{})
		defer m.OnEnd("gone", websession.Life{}, func() { close(ended) })()
		<-ended
		<-time.After(2 * time.Second)
	})
}
