// Records a conversation, and builds from it what fits into a model's context window.
package main

import (
	"fmt"
	"log"
	"os"
	"strings"

	"varve"
)

func main() {
	directory := "./memory"
	if len(os.Args) > 1 {
		directory = os.Args[1]
	}
	if err := run(directory); err != nil {
		log.Fatal(err)
	}
}

func run(directory string) error {
	store, err := varve.Open(directory, nil)
	if err != nil {
		return err
	}
	defer store.Close()
	// Your model's own counter; without one, tokens are estimated.
	count := func(text string) (uint64, error) { return uint64(len(strings.Fields(text))), nil }
	if err := store.SetTokenCounter(count); err != nil {
		return err
	}
	session, err := store.CreateSession(nil)
	if err != nil {
		return err
	}
	defer session.Close()

	if _, err := session.Record("user_message",
		map[string]any{"content": "I moved to Rome in May"}); err != nil {
		return err
	}
	for day := range 200 {
		_, err := session.Record("observation",
			map[string]any{"content": fmt.Sprintf("Day %d: nothing happened, as usual", day)})
		if err != nil {
			return err
		}
	}

	built, err := session.BuildContext(varve.ContextRequest{
		Question: "Where did she move to? Rome?",
		Budget:   varve.Budget{MaxTokens: 120, ReserveTokens: 20}})
	if err != nil {
		return err
	}
	fmt.Println("within the budget:", built.TokenCount <= 100)
	fmt.Println("knows of Rome:", strings.Contains(built.Text, "Rome in May"))
	fmt.Println("entries were left out:", built.Dropped > 0)
	return nil
}
