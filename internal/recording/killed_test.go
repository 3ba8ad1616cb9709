package recording_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/gatehouse-proxy/gatehouse/internal/recording"
)

// recipientVar makes the test's own program one that records until it is killed, for this recipient.
const recipientVar = "GATEHOUSE_TEST_RECORD_FOR"

func TestMain(m *testing.M) {
	if recipient := os.Getenv(recipientVar); recipient != "" {
		recordForEver(recipient)
	}
	os.Exit(m.Run())
}

// recordForEver records a frame every 10 ms and says so.
func recordForEver(recipient string) {
	to, err := age.ParseX25519Recipient(recipient)
	if err != nil {
		panic(err)
	}
	file, err := os.Create(os.Args[1])
	if err != nil {
		panic(err)
	}
	w, err := recording.NewWriter(file, header(), recording.Options{Recipients: []age.Recipient{to}})
	if err != nil {
		panic(err)
	}
	tick := time.NewTicker(10 * time.Millisecond)
	for i := 0; ; i++ {
		<-tick.C
		w.Server(fmt.Appendf(nil, "frame %d", i))
		fmt.Println(time.Now().UnixMicro())
	}
}

func TestAKillLosesAtMostTheLastSecond(t *testing.T) {
	path, id := t.TempDir()+"/killed", identity(t)
	child := exec.CommandContext(t.Context(), os.Args[0], path)
	child.Env = append(os.Environ(), recipientVar+"="+id.Recipient().String())
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines, said := bufio.NewScanner(out), []int64{}
	for len(said) < 250 && lines.Scan() {
		var at int64
		if _, err := fmt.Sscan(lines.Text(), &at); err != nil {
			t.Fatal(err)
		}
		said = append(said, at)
	}
	_ = child.Process.Kill() // SIGKILL
	killed := time.Now().UnixMicro()
	_ = child.Wait()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	frames, err := read(t, file, id)
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the end is %v", err)
	}
	const slack = 500_000 // microseconds: the machine may be busy
	want := 0
	for _, at := range said {
		if at < killed-1_000_000-slack {
			want++
		}
	}
	if want == 0 || len(frames) < want || !bytes.Contains([]byte(frames[want-1]), fmt.Appendf(nil, "frame %d", want-1)) {
		t.Errorf("%d frames are left of %d, want the first %d", len(frames), len(said), want)
	}
}
