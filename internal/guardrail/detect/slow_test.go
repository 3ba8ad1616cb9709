package detect

// slowSecrets is the scanner of secrets without what makes it fast: the trie and the machines read
// each character of the text.
type slowSecrets struct{ *secretScanner }

// SlowSecretsOf returns a detector of the secrets of a rule set that reads each character.
func SlowSecretsOf(rules string) (*Detector, error) {
	set, err := parseSecrets(rules)
	if err != nil {
		return nil, err
	}
	return &Detector{newScanner: func() scanner { return slowSecrets{newSecretScanner(set)} }}, nil
}

func (s slowSecrets) scan(piece string, _ int, hits *hitList) {
	s.hits = hits
	for _, r := range piece {
		s.read(string(r))
		s.state = s.set.trie.step(s.state, r)
		for _, at := range s.set.trie.outs[s.state] {
			s.anchorEnded(&s.set.anchors[at])
		}
	}
}

func (s slowSecrets) anchorEnded(a *anchor) {
	for _, i := range a.keywords {
		if s.set.rules[i].floating && !s.keywordSeen[i] {
			s.floating = append(s.floating, i)
			s.start(i, a.length+maxPrefix)
		}
		s.keywordSeen[i] = true
	}
	for _, i := range a.begins {
		s.start(i, a.length)
	}
}
