package share_test

import (
	"strconv"
	"sync"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/share"
)

// all acquires for a key until it is refused, and returns how many it got and what gives them back.
func all(t *testing.T, p *share.Pool, tenant, key string, most int) (n int, release []func()) {
	t.Helper()
	for range most + 1 {
		r, ok := p.Acquire(tenant, key, most)
		if !ok {
			break
		}
		release = append(release, r)
	}
	return len(release), release
}

func TestNeitherAKeyNorATenantHasAll(t *testing.T) {
	for most, want := range map[int]struct{ key, tenant int }{64: {48, 56}, 8: {6, 7}, 7: {7, 7}, 1: {1, 1}} {
		var p share.Pool
		had, _ := all(t, &p, "a", "one", most)
		if had != want.key {
			t.Errorf("of %d a key has %d, want %d", most, had, want.key)
		}
		for k := range most {
			n, _ := all(t, &p, "a", "more"+strconv.Itoa(k), most)
			had += n
		}
		if had != want.tenant {
			t.Errorf("of %d a tenant has %d, want %d", most, had, want.tenant)
		}
		for k := range most - had {
			if n, _ := all(t, &p, strconv.Itoa(k), "x", most); n != 1 {
				t.Errorf("of %d another tenant has %d", most, n)
			}
		}
		if n, _ := all(t, &p, "last", "x", most); n != 0 {
			t.Errorf("more than %d are used", most)
		}
	}
}

func TestWhatIsReleasedCanBeAcquired(t *testing.T) {
	var p share.Pool
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			for range 100 {
				if release, ok := p.Acquire("a", "one", 16); ok {
					release()
				}
			}
		})
	}
	calls.Wait()
	for range 2 {
		n, release := all(t, &p, "a", "one", 16)
		if n != 12 {
			t.Errorf("%d of 16", n)
		}
		for _, r := range release {
			r()
		}
	}
}
