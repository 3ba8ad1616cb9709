//go:build linux

package main

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestTheConfigurationOfLiteLLMHasNoSecret(t *testing.T) {
	text := liteLLMConfig("127.0.0.1:4000")
	for _, want := range []string{
		"model_name: up/bench\n", "model_name: up/bench-coalesced\n", "model: openai/bench\n", "api_base: http://127.0.0.1:4000/v1\n",
		"api_key: os.environ/UPSTREAM_KEY\n", "master_key: os.environ/GATEWAY_API_KEY\n", "telemetry: false\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the configuration lacks %q:\n%s", want, text)
		}
	}
}

// The pinned versions are those that the report names.
func TestPeersAreThePinnedOnes(t *testing.T) {
	for file, want := range map[string]string{"peers/litellm.txt": "\nlitellm==" + liteLLMVersion + "\n", "peers/package.json": `"@portkey-ai/gateway": "` + portkeyVersion + `"`} {
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %q (%v)", file, want, err)
		}
	}
}

// The CPU time and memory of a server are those of all its processes, also of those that have ended.
func TestAServerIsMeasuredWithAllItsProcesses(t *testing.T) {
	const burn = `i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done`
	command := exec.Command("/bin/sh", "-c", `sh -c '`+burn+`'; sleep 60 & echo ready; read end; kill $!`)
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { input.Close(); command.Wait() }()
	if _, err := output.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	pid := command.Process.Pid
	pids, err := tree(pid)
	if err != nil || len(pids) != 2 || pids[0] != pid {
		t.Errorf("the processes are %v, %v; want the shell and one child", pids, err)
	}
	alone, err := cpuTime(pid)
	if err != nil {
		t.Fatal(err)
	}
	all, err := treeCPU(pid)
	if err != nil || all < alone+2*tickLength() {
		t.Errorf("%v with the child that has ended, %v, and %v without", all, err, alone)
	}
	memory, err := treeMemory(pid)
	if err != nil || memory == 0 {
		t.Errorf("%d KiB, %v", memory, err)
	}
	if _, err := treeCPU(1 << 30); err == nil {
		t.Error("a process that is not there was measured")
	}
}

func TestPeersMustAnswerWithTheUpstreamsText(t *testing.T) {
	const sent = 1000
	header := func(kind string) http.Header { return http.Header{"Content-Type": {kind}} }
	whole := func(edit ...string) error {
		body := chatAnswer().appendTo(nil, []byte("1080"))
		body = []byte(strings.NewReplacer(edit...).Replace(string(body)))
		return checkPeerWhole(answer{status: 200, header: header("application/json"), body: body}, sent, "")
	}
	stream := func(edit ...string) error {
		body := append(bytes.Join(chatEvents(coalescedEvents, false), nil), doneEvent...)
		body = []byte(strings.NewReplacer(edit...).Replace(string(body)))
		return checkPeerStream(answer{status: 200, header: header("text/event-stream"), body: body}, sent, "")
	}
	for name, err := range map[string]error{"whole": whole(), "another model's name": whole(`"bench"`, `"up/bench"`), "stream": stream(), "blanks": stream(`":`, `": `)} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, err := range map[string]error{
		"another text":     whole(`"content":"`, `"content":"x`),
		"a cut request":    whole(`"prompt_tokens":1080`, `"prompt_tokens":80`),
		"no end":           stream("[DONE]", "[]"),
		"another event":    stream(`{"content":" `+vocabulary[1], `{"content":"x`),
		"fewer events":     stream("data: {", ": {"),
		"no JSON":          whole("{", "["),
		"a broken stream ": stream(`"choices":[`, `"choices":`),
	} {
		if err == nil {
			t.Errorf("%s passes", name)
		}
	}
}

func TestTheModelIsFoundInAnyOrder(t *testing.T) {
	long := strings.Repeat("a", kib)
	for body, want := range map[string]string{
		`{"model":"bench"}`: "bench",
		`{"messages":[{"content":"` + long + `"}],"model":"bench-coalesced"}`:                  "bench-coalesced",
		`{"messages": [{"content": "` + long + `\"model\":\"x\""}], "model": "bench", "n": 1}`: "bench",
		`{"messages":[]}`: "",
	} {
		if got, err := modelOf([]byte(body)); got != want || (err == nil) != (want != "") {
			t.Errorf("%.40s: %q, %v", body, got, err)
		}
	}
}

func TestThePeersReportHasEveryPeer(t *testing.T) {
	rep := &peerReport{Started: time.Unix(0, 0), Peers: allPeers(), Failures: map[string]string{"sse-64 portkey": "status 500"}, Rounds: map[string][]map[role]figures{
		"req-1k": {{proxy: {CPU: 100, RSS: 50}, gateway: {CPU: 150, RSS: 60}, "litellm": {CPU: 9000, RSS: 700}}},
	}}
	var b strings.Builder
	if err := rep.writeText(&b); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{"req-1k litellm 9000 90.00 (90.00-90.00) 700", "req-1k portkey - - - -", "sse-64 portkey failed: status 500", liteLLMVersion, portkeyVersion} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, b.String())
		}
	}
}
