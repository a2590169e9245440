"""What the operators' commands share. It lies apart from them because Scrapy makes a command of every
`ScrapyCommand` that it finds in the commands package."""
