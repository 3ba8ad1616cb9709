//go:build unix && !race

package clustertest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
)

// wrongVariable has the seconds by which the clock of a program of wrongClock is wrong.
const wrongVariable = "PROOF_WRONG_CLOCK"

// wrongClock builds the gateway with another time.Now: nothing outside a Go program can change its
// clock. Intervals stay right, as they do where a clock is set.
func wrongClock(t *testing.T) (program string) {
	t.Helper()
	compiler, dir := enginetest.Program(t, "go"), t.TempDir()
	root, err := exec.Command(compiler, "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	text, err := os.ReadFile(filepath.Join(source, "time.go"))
	if err != nil {
		t.Fatal(err)
	}
	const begin = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	changed := strings.Replace(string(text), begin, begin+"\tsec += wrongBy\n", 1)
	if changed == string(text) {
		t.Fatal("time.Now of this Go is not as it was")
	}
	const added = "package time\n\nimport \"syscall\"\n\nvar wrongBy = func() int64 {\n\ttext, _ := syscall.Getenv(\"" + wrongVariable + "\")\n\tn, _ := atoi(text)\n\treturn int64(n)\n}()\n"
	files := map[string]string{filepath.Join(source, "time.go"): filepath.Join(dir, "time.go"), filepath.Join(source, "wrong.go"): filepath.Join(dir, "wrong.go")}
	overlay, err := json.Marshal(map[string]any{"Replace": files})
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(os.WriteFile(filepath.Join(dir, "time.go"), []byte(changed), 0o600), os.WriteFile(filepath.Join(dir, "wrong.go"), []byte(added), 0o600),
		os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(dir, playsCaddy)
	build := exec.Command(compiler, "test", "-c", "-vet=off", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, ".")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return program
}

// The clock of one gateway is wrong: limits, money, keys, rows and desktops are as ever, and the
// operator is told.
func TestLongTheClockOfAGatewayIsWrong(t *testing.T) {
	environments := map[string][]string{}
	wrong := func(seconds int) { environments["gw2"] = []string{fmt.Sprintf("%s=%d", wrongVariable, seconds)} }
	const hour, day = 3600, 86400
	wrong(hour)
	p := startWith(t, clustertest.Config{Caddy: wrongClock(t), Gateways: 2, Engines: clustertest.StartEngines(t), Environments: environments})
	p.rate()
	p.crowd(1500, 16)
	for _, seconds := range []int{hour, -day} {
		wrong(seconds)
		p.Gateways[1].Stop()
		if err := p.Gateways[1].Start(); err != nil {
			t.Fatal(err)
		}
		p.soon("the difference of the clocks", func() error {
			status, err := p.clusterStatus(1)
			if off := status.Engine.ClockOffset + float64(seconds); err != nil || math.Abs(off) > 1 {
				return fmt.Errorf("the engine's clock is %v s ahead: %w", status.Engine.ClockOffset, err)
			}
			return nil
		})
		l := p.load(4, p.paced("hard"))
		p.wait(5 * time.Second)
		if answers := l.stop(); !answers.only("200") {
			t.Error(answers)
		}
		p.books("hard")
		p.concurrency()
		p.runtimeKey()
		p.activity()
		p.desktop()
	}
}

// status is a part of what a gateway knows of its cluster.
type status struct {
	Engine struct {
		ClockOffset float64 `json:"clock_offset_seconds"`
	}
	Database struct {
		Error                              string
		Waiting, Spooled, Dropped, Refused int
	}
}

// clusterStatus is what the operator's command says at gateway i.
func (p *proof) clusterStatus(i int) (s status, err error) {
	text, err := p.Gateways[i].Command("gatehouse", "cluster", "--json")
	if err != nil {
		return s, fmt.Errorf("%s: %w", text, err)
	}
	return s, json.Unmarshal([]byte(text), &s)
}
